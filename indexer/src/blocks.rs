//! The blocks of Markdown and how they nest, as far as cutting a section at them asks.
//!
//! In: a parse buffer. Out: every block with its place, its kind and the index of the next one that is not inside it,
//! so that a walk can enter a block or step over it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::markdown::options;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Container,
    Fence,
    Table,
    Leaf,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// Index of the next block that is not inside this one.
    pub(crate) next: usize,
}

/// The blocks of a buffer, outer ones before those inside them.
pub(crate) fn blocks(buffer: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(buffer, options()).into_offset_iter() {
        let kind = match &event {
            Event::Start(tag) => match tag {
                Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_) => {
                    Some(Kind::Container)
                }
                Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Some(Kind::Fence),
                Tag::Table(_) => Some(Kind::Table),
                Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::TableHead
                | Tag::TableRow => Some(Kind::Leaf),
                _ => None,
            },
            Event::End(_) => {
                if let Some(index) = open.pop().flatten() {
                    blocks[index].next = blocks.len();
                }
                continue;
            }
            Event::Rule => {
                let next = blocks.len() + 1;
                blocks.push(Block {
                    range,
                    kind: Kind::Leaf,
                    next,
                });
                continue;
            }
            _ => continue,
        };
        open.push(kind.map(|kind| {
            blocks.push(Block {
                range,
                kind,
                next: usize::MAX,
            });
            blocks.len() - 1
        }));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_nest_and_name_the_next_one_outside() {
        let source = "# T\n\n- a\n\n  ```\n  b\n  ```\n- c\n\n---\n\n| x |\n|---|\n| y |\n\nend\n";
        let found = blocks(source);
        let top = |at: &usize| (*at < found.len()).then_some(*at);
        let outermost: Vec<&str> = std::iter::successors(Some(0), |&at| top(&found[at].next))
            .map(|at| source[found[at].range.clone()].trim_end())
            .collect();
        assert_eq!(
            outermost,
            [
                "# T",
                "- a\n\n  ```\n  b\n  ```\n- c",
                "---",
                "| x |\n|---|\n| y |",
                "end"
            ]
        );
        let count = |kind| found.iter().filter(|block| block.kind == kind).count();
        assert_eq!(
            (count(Kind::Container), count(Kind::Fence), count(Kind::Table)),
            (3, 1, 1)
        );
    }
}
