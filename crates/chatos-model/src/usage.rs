//! Tokens and what they cost (agents §15).

use chatos_store::PriceTier;
use serde::{Deserialize, Serialize};

/// Tokens of one call. `input` does not contain what came from a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Not from the vendor: counted by us.
    pub estimated: bool,
}

/// Prices per million tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Prices {
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
    pub currency: String,
    /// Other prices for calls whose whole input is above a number of tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
}

/// A sum of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Cost {
    pub amount: f64,
    pub currency: String,
}

impl Prices {
    /// What `usage` cost; `None` when a price that is needed is unknown. Unknown is never 0.
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let whole = usage.input + usage.cache_read + usage.cache_write;
        let tier = self.tiers.iter().filter(|tier| whole > tier.above).max_by_key(|tier| tier.above);
        if let Some(tier) = tier {
            let prices = Self {
                input: tier.input.or(self.input),
                output: tier.output.or(self.output),
                cache_read: tier.cache_read.or(self.cache_read),
                cache_write: tier.cache_write.or(self.cache_write),
                currency: self.currency.clone(),
                tiers: Vec::new(),
            };
            return prices.cost(usage);
        }
        let part = |tokens: u64, price: Option<f64>| match (tokens, price) {
            (0, _) => Some(0.0),
            (tokens, Some(price)) => Some(tokens as f64 * price / 1_000_000.0),
            (_, None) => None,
        };
        // What a cache gave costs at most what fresh input costs; vendors without a price for it
        // charge it as input.
        let read = part(usage.cache_read, self.cache_read.or(self.input))?;
        let write = part(usage.cache_write, self.cache_write.or(self.input))?;
        let amount = part(usage.input, self.input)? + part(usage.output, self.output)? + read + write;
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        Some(Cost { amount, currency: self.currency.clone() })
    }
}

/// Estimated tokens of plain text.
pub fn text_tokens(text: &str) -> u64 {
    text.len() as u64 / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_prices_are_not_free() {
        let usage = Usage { input: 1_000_000, output: 500_000, ..Usage::default() };
        let full =
            Prices { input: Some(3.0), output: Some(15.0), currency: "USD".to_owned(), ..Prices::default() };
        assert_eq!(full.cost(&usage).map(|cost| cost.amount), Some(10.5));
        assert_eq!(Prices { output: None, ..full.clone() }.cost(&usage), None);
        assert_eq!(Prices::default().cost(&Usage::default()), None);
        // The tier of the whole input counts for all of it.
        let tier = PriceTier { above: 200_000, input: Some(6.0), ..PriceTier::default() };
        let tiered = Prices { tiers: vec![tier], ..full.clone() };
        assert_eq!(tiered.cost(&usage).map(|cost| cost.amount), Some(13.5));
        let small = Usage { input: 100_000, cache_read: 100_000, ..Usage::default() };
        assert_eq!(tiered.cost(&small).map(|cost| cost.amount), Some(0.6));
        let cached = Usage { cache_read: 1_000_000, ..Usage::default() };
        assert_eq!(full.cost(&cached).map(|cost| cost.amount), Some(3.0));
    }
}
