//! Signatures of a release, in the form `minisign` reads: Ed25519 over the list of checksums, so that one signature
//! covers every file.
//!
//! The key comes from the environment (`CHATOS_RELEASE_KEY`) and is written nowhere.

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SecureRandom as _;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::process;

const VARIABLE: &str = "CHATOS_RELEASE_KEY";
const ALGORITHM: &[u8; 2] = b"Ed";
const ID: usize = 8;
const SEED: usize = 32;

/// The key of whoever releases.
pub(super) struct ReleaseKey {
    id: [u8; ID],
    pair: Ed25519KeyPair,
}

impl ReleaseKey {
    /// The key in the environment, where there is one.
    pub(super) fn from_environment() -> Result<Option<Self>> {
        process::env(VARIABLE).map(|text| Self::read(&text)).transpose()
    }

    fn read(text: &str) -> Result<Self> {
        let bytes = STANDARD.decode(text.trim()).with_context(|| format!("{VARIABLE} is not base64"))?;
        let sizes = bytes.len() == ALGORITHM.len() + ID + SEED && bytes.starts_with(ALGORITHM);
        ensure!(sizes, "{VARIABLE} is not a key of `cargo xtask dist key`");
        let (id, seed) = bytes[ALGORITHM.len()..].split_at(ID);
        let pair = Ed25519KeyPair::from_seed_unchecked(seed)
            .map_err(|error| anyhow::anyhow!("{VARIABLE} is refused: {error}"))?;
        Ok(Self { id: id.try_into()?, pair })
    }

    /// A new key, as the environment is to hold it.
    pub(super) fn generate() -> Result<(Self, String)> {
        let mut random = [0; ID + SEED];
        ring::rand::SystemRandom::new()
            .fill(&mut random)
            .map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
        let text = STANDARD.encode([ALGORITHM.as_slice(), &random].concat());
        Ok((Self::read(&text)?, text))
    }

    /// The line programs and scripts check with.
    pub(super) fn public(&self) -> String {
        STANDARD.encode([ALGORITHM.as_slice(), &self.id, self.pair.public_key().as_ref()].concat())
    }

    /// The content of a `.minisig` file.
    pub(super) fn sign(&self, bytes: &[u8], comment: &str) -> String {
        let signature = self.pair.sign(bytes);
        let whole = self.pair.sign(&[signature.as_ref(), comment.as_bytes()].concat());
        format!(
            "untrusted comment: signature of a ChatOS release\n{}\ntrusted comment: {comment}\n{}\n",
            STANDARD.encode([ALGORITHM.as_slice(), &self.id, signature.as_ref()].concat()),
            STANDARD.encode(whole.as_ref()),
        )
    }
}
