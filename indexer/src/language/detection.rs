//! Which language a text is in, where that is beyond doubt.
//!
//! In: the sections of a document. Out: a language tag, or nothing: English, too little text, or doubt. The first
//! prose is looked at, without code. Han, kana and hangul tell by themselves; English by its small words, which no other
//! language has many of; the rest is told by the trigrams of a text that has hardly any of them.

use docs_index::SectionSource;
use whatlang::Lang;

/// Bytes of prose that are looked at.
const LOOKED_AT: usize = 2048;
/// Letters of prose that there have to be.
const LETTERS: usize = 200;
/// A character of Chinese, Japanese or Korean says as much as so many letters.
const LETTERS_OF_CJK: usize = 3;
/// Of a hundred words so many that are English make a text doubtful, however it looks.
const ENGLISH_PERCENT: usize = 3;
/// Words that are frequent in English and are none in other languages.
const ENGLISH: [&str; 14] = [
    "the", "of", "and", "to", "this", "with", "you", "that", "are", "be", "for", "it", "as", "by",
];

pub(super) fn language_of(sections: &[SectionSource]) -> Option<&'static str> {
    let text = first_prose(sections);
    let (mut letters, mut cjk, mut kana, mut hangul) = (0, 0, 0, 0);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        match c {
            '\u{3041}'..='\u{30ff}' => kana += 1,
            '\u{ac00}'..='\u{d7a3}' => hangul += 1,
            '\u{3400}'..='\u{9fff}' => cjk += 1,
            _ => letters += 1,
        }
    }
    let all_cjk = (cjk + kana + hangul) * LETTERS_OF_CJK;
    if letters + all_cjk < LETTERS {
        return None;
    }
    if all_cjk > letters / 2 {
        return Some(if hangul > cjk + kana {
            "ko"
        } else if kana * 10 > cjk {
            "ja"
        } else {
            "zh"
        });
    }
    let words = || {
        text.split(|c: char| !c.is_alphabetic())
            .filter(|word| !word.is_empty())
    };
    let english = words()
        .filter(|word| ENGLISH.iter().any(|known| word.eq_ignore_ascii_case(known)))
        .count();
    if english * 100 >= words().count() * ENGLISH_PERCENT {
        return None;
    }
    let info = whatlang::detect(&text).filter(whatlang::Info::is_reliable)?;
    tag(info.lang())
}

/// The first prose of a document, up to the limit.
fn first_prose(sections: &[SectionSource]) -> String {
    let mut text = String::new();
    for part in sections.iter().flat_map(|section| &section.parts) {
        for c in part.fields.prose.chars() {
            if text.len() >= LOOKED_AT {
                return text;
            }
            text.push(c);
        }
        text.push('\n');
    }
    text
}

/// Languages that documentation is found in; a text in another one is rather a list of names.
fn tag(language: Lang) -> Option<&'static str> {
    Some(match language {
        Lang::Ara => "ar",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hun => "hu",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Nld => "nl",
        Lang::Nob => "nb",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Spa => "es",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tha => "th",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Vie => "vi",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use docs_index::{BodyText, PartSource};

    fn detected(prose: &str) -> Option<&'static str> {
        let part = |prose: &str| PartSource {
            fields: BodyText {
                prose: prose.to_owned(),
                ..BodyText::default()
            },
            ..PartSource::default()
        };
        let sections: Vec<SectionSource> = prose
            .split("\n\n")
            .map(|prose| SectionSource {
                parts: vec![part(prose)],
                ..SectionSource::default()
            })
            .collect();
        language_of(&sections)
    }

    const GERMAN: &str = "Diese Seite erklärt, wie eine Anwendung eingerichtet wird und wo ihre Dateien liegen. Wer \
        einen Fehler findet, schreibt ihn auf und schickt ihn an die Betreuer des Projekts.\n\nDanach wird die Anwendung \
        gestartet und lauscht auf dem Port, den die Konfiguration nennt.";

    #[test]
    fn languages_are_told() {
        for (expected, prose) in [
            ("de", GERMAN),
            (
                "fr",
                "Cette page explique comment installer l'application et où se trouvent ses fichiers. Ceux qui \
                 trouvent une erreur la décrivent et l'envoient aux responsables du projet. Ensuite, l'application est \
                 lancée et écoute sur le port que nomme la configuration.",
            ),
            (
                "ru",
                "На этой странице рассказано, как установить приложение и где лежат его файлы. Если вы нашли ошибку, \
                 опишите её и отправьте тем, кто ведёт проект. После этого приложение запускается и слушает порт, \
                 указанный в настройках. Её можно изменить в любое время: достаточно открыть нужный файл, исправить \
                 значение и сохранить его, а затем попросить приложение прочитать настройки заново.",
            ),
            (
                "ja",
                "このページでは、アプリケーションをインストールする方法と、そのファイルの場所について説明します。誤りを見つけた\
                 ときは、内容を書いてプロジェクトの担当者に送ってください。その後、アプリケーションが起動します。",
            ),
            (
                "zh",
                "本页说明如何安装应用程序以及其文件所在的位置。如果发现错误，请写下来并发送给项目的维护者。随后应用程序启动，\
                 并监听配置文件中指定的端口。安装完成之后可以删除临时文件，也可以保留它们以便下次使用。",
            ),
            (
                "ko",
                "이 페이지는 애플리케이션을 설치하는 방법과 파일이 있는 위치를 설명합니다. 오류를 발견하면 내용을 적어 프로젝트 \
                 담당자에게 보내 주세요. 그런 다음 애플리케이션이 시작되고 설정에 적힌 포트에서 요청을 기다립니다.",
            ),
        ] {
            assert_eq!(detected(prose), Some(expected), "{prose}");
        }
    }

    #[test]
    fn doubt_tells_nothing() {
        let english = "This page explains how an application is set up and where its files are. Whoever finds an error \
            writes it down and sends it to the maintainers of the project. After that the application is started.";
        let names = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda sigma omega ".repeat(5);
        let mixed = format!("{GERMAN} {english}");
        for prose in [
            "",
            "Kurz und gut.",
            &GERMAN[..180],
            english,
            &names,
            &mixed,
            &"x".repeat(5000),
        ] {
            assert_eq!(detected(prose), None, "{prose}");
        }
    }
}
