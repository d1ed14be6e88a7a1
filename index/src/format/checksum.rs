//! Checksums and hashes: CRC-32 for damage, BLAKE2b-256 for identity.
//!
//! CRC-32 is the one of zlib and PNG (ISO 3309, reflected polynomial 0xEDB88320). BLAKE2b is RFC 7693 with a
//! 32-byte digest and no key. Both are in the standard libraries of other languages. Spec chapter 2.

use blake2::{Blake2b256, Digest as _};

/// A BLAKE2b-256 digest.
pub(crate) type Hash = [u8; 32];

/// CRC-32 of `bytes`.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// BLAKE2b-256 of the pieces, one after the other.
pub(crate) fn blake2b(pieces: &[&[u8]]) -> Hash {
    let mut hasher = Blake2b256::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().into()
}

/// Lower-case hexadecimal digits of a hash.
pub(crate) fn hex(hash: &Hash) -> String {
    use std::fmt::Write as _;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(
            hex(&blake2b(&[b"a", b"bc"])),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"
        );
    }
}
