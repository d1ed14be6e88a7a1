//! Variable-length unsigned integers: seven bits a byte, least significant first, the high bit set on all
//! bytes but the last (LEB128, as in DWARF). Only the shortest form is valid. Spec chapter 3.

/// Appends `value` in 1 to 10 bytes.
pub(crate) fn encode(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes one value from the front of `bytes`; `None` if it is cut short, too long or not in its shortest form.
#[inline]
pub(crate) fn decode(bytes: &mut &[u8]) -> Option<u64> {
    match bytes.split_first() {
        // Most values.
        Some((&byte, rest)) if byte < 0x80 => {
            *bytes = rest;
            Some(u64::from(byte))
        }
        _ => decode_long(bytes),
    }
}

fn decode_long(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, mut rest) = bytes.split_first()?;
    let mut value = u64::from(first & 0x7f);
    let (mut byte, mut shift) = (first, 0_u32);
    while byte & 0x80 != 0 {
        shift = shift.checked_add(7)?;
        let (&next, tail) = rest.split_first()?;
        rest = tail;
        byte = next;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || (shift == 63 && bits > 1) || (bits == 0 && byte == 0) {
            return None;
        }
        value |= bits << shift;
    }
    *bytes = rest;
    Some(value)
}

/// [`decode`] for values that must fit 32 bits.
#[inline]
pub(crate) fn decode_u32(bytes: &mut &[u8]) -> Option<u32> {
    decode(bytes).and_then(|value| u32::try_from(value).ok())
}

/// Takes `length` bytes from the front.
pub(crate) fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let length = usize::try_from(length).ok()?;
    let (head, tail) = bytes.split_at_checked(length)?;
    *bytes = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn examples_of_the_specification() {
        for (value, bytes) in [
            (0_u64, &[0x00_u8][..]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (
                u64::MAX,
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            ),
        ] {
            let mut out = Vec::new();
            encode(value, &mut out);
            assert_eq!(out, bytes, "{value}");
        }
    }

    #[test]
    fn malformed_values_are_refused() {
        for bytes in [
            &[][..],
            &[0x80],
            &[0x80, 0x00],
            &[0xff, 0x80, 0x00],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        ] {
            let mut rest = bytes;
            assert_eq!(decode(&mut rest), None, "{bytes:x?}");
        }
    }

    proptest! {
        #[test]
        fn decode_takes_back_what_encode_wrote(value in any::<u64>(), tail in any::<Vec<u8>>()) {
            let mut out = Vec::new();
            encode(value, &mut out);
            out.extend(&tail);
            let mut rest = &out[..];
            prop_assert_eq!(decode(&mut rest), Some(value));
            prop_assert_eq!(rest, &tail[..]);
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in any::<Vec<u8>>()) {
            let mut rest = &bytes[..];
            if let Some(value) = decode(&mut rest) {
                let mut again = Vec::new();
                encode(value, &mut again);
                prop_assert_eq!(&bytes[..again.len()], &again[..]);
            }
        }
    }
}
