//! Hugo's configuration, which may have a name that other programs use too.
//!
//! In: a folder. Out: the file by which it is a Hugo site. `hugo.*` and `config/_default/` are Hugo's alone; a
//! `config.*` is where it sets the site's address, or stands beside the folders of a site.

use std::path::PathBuf;

use super::{Place, Reader, first_file};

pub(super) fn config(place: Place<'_>, reader: &mut Reader<'_>) -> Option<PathBuf> {
    let suffixes = ["toml", "yaml", "yml", "json"];
    let find = |stem: &str| {
        suffixes
            .iter()
            .find_map(|suffix| first_file(place.folder, &[&format!("{stem}.{suffix}")]))
    };
    let own = ["hugo", "config/_default/hugo", "config/_default/config"];
    own.into_iter().find_map(find).or_else(|| {
        let config = find("config")?;
        let is_folder = |name: &str| place.folder.join(name).is_dir();
        let has_folders =
            is_folder("content") && ["layouts", "themes", "archetypes"].into_iter().any(is_folder);
        let text = reader.read(&config, place)?;
        // `base_url` is Zola's.
        let is_hugo = has_key(&text, "baseurl") || (has_folders && !has_key(&text, "base_url"));
        is_hugo.then_some(config)
    })
}

/// Whether a line of TOML, YAML or JSON begins with this key, in whatever case.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '"' | '\''));
        let (found, rest) = line.split_at_checked(key.len()).unwrap_or_default();
        let rest = rest.trim_start_matches(['"', '\'']).trim_start();
        found.eq_ignore_ascii_case(key) && rest.starts_with(['=', ':'])
    })
}
