//! The file's bytes in memory, mapped or read. The only unsafe expression of the workspace is here.
//!
//! Contract of the map: a finished index is never changed in place. Builds write a new file and rename it over
//! the old name, so a map keeps the old inode, and replacing, renaming or deleting the file never disturbs a
//! reader. A file that some other program truncates in place while it is mapped ends the process with SIGBUS
//! on most systems; a file written in place may read differently from one moment to the next, which the
//! checks at use turn into an error or another answer. [`Bytes::read`] is safe against both.

use std::{fs::File, io, ops::Deref, path::Path};

/// The whole file.
pub(crate) enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps the file read-only; pages are loaded when they are touched.
    pub(crate) fn map(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            // An empty file can't be mapped on every system; its emptiness is reported like any short file.
            return Ok(Self::Owned(Vec::new()));
        }
        #[expect(
            unsafe_code,
            reason = "mapping a file is unsafe by nature; the module's head has the contract"
        )]
        // SAFETY: the map is read-only and private to this value, its bytes are plain `u8` and every offset
        // taken from them is checked at use. That nobody truncates or rewrites the file in place is the
        // contract stated above; builds keep it by renaming finished files into place.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Self::Mapped(map))
    }

    /// Reads the file into memory.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        std::fs::read(path).map(Self::Owned)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self {
            Self::Mapped(_) => "mapped",
            Self::Owned(_) => "owned",
        };
        write!(f, "Bytes({kind}, {} bytes)", self.len())
    }
}
