//! Markdown being written: paragraphs, headings, items of lists and tables, which may lie in one another.

/// Columns of a table that are read.
const COLUMNS: usize = 256;

/// Where a text document is collected.
#[derive(Debug, Default)]
pub(super) struct Page {
    out: String,
    tables: Vec<Table>,
    items: bool,
}

/// A table while its rows are collected.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Page {
    /// A paragraph; inside a table it is part of the cell.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.block(text.trim(), false);
    }

    pub(super) fn heading(&mut self, level: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.block(&format!("{} {text}", "#".repeat(level.clamp(1, 6))), false);
        }
    }

    pub(super) fn item(&mut self, level: usize, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.block(&format!("{}- {text}", "  ".repeat(level.min(8))), true);
        }
    }

    fn block(&mut self, text: &str, item: bool) {
        if text.is_empty() {
            return;
        }
        if let Some(cell) = self.tables.last_mut().and_then(Table::cell) {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(text);
            return;
        }
        if !self.out.is_empty() {
            self.out.push_str(if item && self.items { "\n" } else { "\n\n" });
        }
        self.items = item;
        self.out.push_str(text);
    }

    pub(super) fn open_table(&mut self) {
        self.tables.push(Table::default());
    }

    pub(super) fn table(&mut self) -> Option<&mut Table> {
        self.tables.last_mut()
    }

    pub(super) fn close_table(&mut self) {
        if let Some(table) = self.tables.pop() {
            // Inside another table it becomes part of a cell.
            let text = if self.tables.is_empty() { table.markdown() } else { table.flat() };
            self.block(&text, false);
        }
    }

    pub(super) fn finish(mut self) -> String {
        while !self.tables.is_empty() {
            self.close_table();
        }
        self.out
    }
}

impl Table {
    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn open_cell(&mut self) {
        if self.rows.is_empty() {
            self.row();
        }
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < COLUMNS) {
            row.push(String::new());
        }
    }

    /// Whole rows, as sheets have them.
    pub(super) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn cell(&mut self) -> Option<&mut String> {
        self.rows.last_mut()?.last_mut()
    }

    fn flat(&self) -> String {
        self.rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>().join(" / ")
    }

    /// The first row is the head; columns and rows without a word are left out at the end.
    pub(super) fn markdown(&self) -> String {
        let filled =
            |row: &Vec<String>| row.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |at| at + 1);
        let columns = self.rows.iter().map(filled).max().unwrap_or_default();
        let rows: Vec<&Vec<String>> = self.rows.iter().filter(|row| filled(row) > 0).collect();
        if columns == 0 {
            return String::new();
        }
        let mut out = String::new();
        for (index, row) in rows.iter().enumerate() {
            out.push('|');
            for column in 0..columns {
                let cell = row.get(column).map_or("", String::as_str).trim();
                out.push_str(&format!(" {} |", cell.replace('|', "\\|").replace(['\n', '\r'], " ")));
            }
            out.push('\n');
            if index == 0 {
                out.push_str(&format!("|{}\n", " --- |".repeat(columns)));
            }
        }
        out.truncate(out.trim_end().len());
        out
    }
}
