//! The language of a page: how it is known, and that its words are found in all their forms.

use serde_json::Value;

use crate::program::Place;

/// One site in three languages, with a page that says its own, and one whose text alone tells.
fn site() -> Place {
    Place::with(&[
        (
            "site/docs/en/upload.md",
            "# Upload\n\nThe server stores the files that a client sends, and logs the requests.\n\n## Limits\n\nLarge files are \
             refused.\n\n[Grenzen](../de/hochladen.md#grenzen)\n",
        ),
        (
            "site/docs/de/hochladen.md",
            "# Hochladen\n\nDer Server speichert die Dateien, die ein Programm sendet.\n\n## Grenzen\n\nZu große Anfragen werden \
             abgelehnt.\n\n[Pièces volumineuses](../fr/envoi.md)\n",
        ),
        (
            "site/docs/fr/envoi.md",
            "# Envoi\n\nLe serveur enregistre les fichiers de l'utilisateur après leur création.\n\n## Limites\n\nLes déploiements \
             trop lourds sont refusés.\n",
        ),
        (
            "site/notes/archivos.md",
            "---\nlang: es-MX\n---\n\n# Archivos\n\nLas configuraciones del servidor.\n",
        ),
        (
            "site/notes/tekst.md",
            "# Bestanden\n\nOp deze bladzijde lezen beheerders welke bestanden nodig zijn, wie ze mag wijzigen en \
             hoe zij worden opgeslagen wanneer gebruikers tegelijk werken. Deze pagina legt uit hoe een toepassing wordt ingesteld en waar haar bestanden staan. Wie een fout \
             vindt, schrijft die op en stuurt haar naar de beheerders van het project. Daarna wordt de toepassing gestart en \
             luistert zij naar aanvragen.\n",
        ),
        ("site/index.md", "# Start\n\nShort.\n"),
    ])
}

/// The language of each document that has one.
fn languages(place: &Place, index: &str) -> Vec<(String, String)> {
    let run = place.run(&["inspect", index, "--json"]).succeeds();
    let mut found: Vec<(String, String)> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|line| {
            let text = |key: &str| Some(line[key].as_str()?.to_owned());
            Some((text("path")?, text("language")?))
        })
        .collect();
    found.dedup();
    found
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |&(path, language): &(&str, &str)| (path.to_owned(), language.to_owned());
    pairs.iter().map(owned).collect()
}

#[test]
fn front_matter_path_and_text_tell_the_language() {
    let place = site();
    place.run(&["build", "site", "-o", "docs.idx"]).succeeds();
    let expected = [
        ("docs/de/hochladen.md", "de"),
        ("docs/en/upload.md", "en"),
        ("docs/fr/envoi.md", "fr"),
        ("notes/archivos.md", "es-MX"),
        ("notes/tekst.md", "nl"),
    ];
    assert_eq!(languages(&place, "docs.idx"), pairs(&expected));
}

#[test]
fn the_configuration_of_the_site_tells_the_rest() {
    let place = site();
    place.write(
        "site/mkdocs.yml",
        "site_name: x\ntheme:\n  name: material\n  language: it\n",
    );
    place.run(&["build", "site", "-o", "docs.idx"]).succeeds();
    let found = languages(&place, "docs.idx");
    assert!(
        found.contains(&("index.md".to_owned(), "it".to_owned())),
        "{found:?}"
    );
    assert!(
        found.contains(&("docs/de/hochladen.md".to_owned(), "de".to_owned())),
        "{found:?}"
    );
}

#[test]
fn words_are_found_in_their_other_forms() {
    let place = site();
    place.run(&["build", "site", "-o", "docs.idx"]).succeeds();
    for (query, expected) in [
        ("Datei", "docs/de/hochladen.md#hochladen"),
        ("Dateien", "docs/de/hochladen.md#hochladen"),
        ("Anfrage abgelehnt", "docs/de/hochladen.md#grenzen"),
        ("client file", "docs/en/upload.md#upload"),
        ("fichier creation", "docs/fr/envoi.md#envoi"),
        ("clients store file", "docs/en/upload.md#upload"),
    ] {
        let run = place.run(&["search", "docs.idx", query, "--json"]).succeeds();
        assert_eq!(run.json()["hits"][0]["id"], expected, "{query}");
    }
}

#[test]
fn a_merge_of_shards_is_the_build() {
    let place = site();
    place.run(&["build", "site", "-o", "whole.idx"]).succeeds();
    for count in [2, 6] {
        let mut line = vec!["merge".to_owned(), "-o".to_owned(), "merged.idx".to_owned()];
        for number in 1..=count {
            let (name, shard) = (format!("{number}.idx"), format!("{number}/{count}"));
            place
                .run(&["build", "site", "-o", &name, "--shard", &shard])
                .succeeds();
            line.push(name);
        }
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        place.run(&line).succeeds();
        assert!(
            place.read("merged.idx") == place.read("whole.idx"),
            "{count} shards"
        );
    }
}

/// What only the words of the query need: terms for every language of the index.
#[test]
fn a_query_is_asked_in_the_languages_of_the_index() {
    let place = site();
    place.run(&["build", "site", "-o", "docs.idx"]).succeeds();
    for (query, expected) in [
        ("Wie kann ich die Anfragen?", "docs/de/hochladen.md#grenzen"),
        ("Größen", "docs/de/hochladen.md#grenzen"),
        ("comment l'utilisateurs", "docs/fr/envoi.md#envoi"),
        // A link of a German page is in the language of the page that it leads to.
        ("volumineux", "docs/fr/envoi.md#envoi"),
        ("deploiement", "docs/fr/envoi.md#limites"),
        ("configuracion", "notes/archivos.md#archivos"),
        ("bestand", "notes/tekst.md#bestanden"),
    ] {
        let run = place.run(&["search", "docs.idx", query, "--json"]).succeeds();
        assert_eq!(run.json()["hits"][0]["id"], expected, "{query}");
    }
}
