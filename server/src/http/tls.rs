//! stub
use std::path::Path;
#[derive(Debug, thiserror::Error)] #[error("x")] pub struct TlsError;
pub(crate) struct Tls;
impl Tls { pub(crate) fn load(_:&Path,_:&Path)->Result<Self,TlsError>{Err(TlsError)} pub(crate) fn acceptor(&self)->tokio_rustls::TlsAcceptor{unimplemented!()} pub(crate) fn reload(&self,_:bool)->bool{false} }
