//! stub
use std::path::PathBuf; use std::sync::Arc;
#[derive(Debug,Clone,Default)] pub struct AuthenticationOptions { pub token_file: Option<PathBuf>, pub tokens: Option<String>, pub oauth: Option<OAuthOptions> }
#[derive(Debug,Clone,Default)] pub struct OAuthOptions { pub resource: String, pub issuers: Vec<String>, pub key_set: String, pub audiences: Vec<String>, pub scopes: Vec<String> }
#[derive(Debug, thiserror::Error)] #[error("x")] pub struct AuthenticationError;
pub(crate) struct Authentication;
pub(crate) struct ProtectedResource;
impl ProtectedResource { pub(crate) fn paths(&self)->&[String]{&[]} pub(crate) fn document(&self)->&[u8]{&[]} }
pub(crate) enum Identity { Anyone, Named(Arc<str>) }
pub(crate) struct Challenge { pub status: http::StatusCode, pub www_authenticate: http::HeaderValue, pub reason: &'static str }
impl Authentication { pub(crate) fn new(_:&AuthenticationOptions)->Result<Self,AuthenticationError>{Ok(Self)} pub(crate) fn is_required(&self)->bool{false}
 pub(crate) async fn check(&self,_:&http::HeaderMap)->Result<Identity,Challenge>{Ok(Identity::Anyone)} pub(crate) fn reload(&self,_:bool){} pub(crate) fn metadata(&self)->Option<&ProtectedResource>{None} }
