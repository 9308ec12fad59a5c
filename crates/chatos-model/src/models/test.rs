//! One minimal call, to see whether a model answers.

use std::time::{Duration, Instant};

use chatos_store::{ModelRecord, ModelTest, now_ms};
use chatos_tool::Fault;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use super::{Models, Window};
use crate::error::{Class, ModelError};
use crate::event::Event;
use crate::request::{Message, Params, Request};
use crate::stream::Provider;

/// A model that loads from disk first may take its time.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswer {
    /// It answered.
    pub ok: bool,
    /// The class of the failure.
    pub class: Option<&'static str>,
    /// The vendor's sentence, or ours.
    pub message: Option<String>,
    /// Until the answer was complete.
    pub latency_ms: u64,
}

impl Models {
    /// Asks a saved model for one word and remembers how it went.
    pub async fn test(&self, model: &ModelRecord) -> Result<ModelAnswer, Fault> {
        let answer = ask(&*self.open(model)?, model, self.window(model)).await;
        let test = ModelTest {
            ok: answer.ok,
            class: answer.class.unwrap_or_default().to_owned(),
            message: answer.message.clone().unwrap_or_default(),
            latency_ms: i64::try_from(answer.latency_ms).unwrap_or(i64::MAX),
            tested_at: now_ms(),
        };
        self.parts().store.put_model_test(&model.id, test)?;
        self.changed(&model.id);
        Ok(answer)
    }

    /// Asks a model that is not saved, with a key that is not stored.
    pub async fn test_with(
        &self,
        model: &ModelRecord,
        key: Option<Zeroizing<String>>,
    ) -> Result<ModelAnswer, Fault> {
        Ok(ask(&*self.open_with(model, key)?, model, self.window(model)).await)
    }
}

async fn ask(provider: &dyn Provider, model: &ModelRecord, window: Window) -> ModelAnswer {
    let request = Request {
        system: Vec::new(),
        messages: vec![Message::user("Answer with the word: ok")],
        tools: Vec::new(),
        params: Params {
            model: model.model.clone(),
            // Models that think need room before they say anything.
            max_output_tokens: Some(256),
            // As chats ask for it, so that a local server has it loaded already.
            window: u32::try_from(window.tokens).ok(),
            ..Params::default()
        },
    };
    let begun = Instant::now();
    let cancel = CancellationToken::new();
    let _ends_with_us = cancel.clone().drop_guard();
    let mut stream = provider.stream(request, cancel);
    let asked = async {
        while let Some(event) = stream.next().await {
            if let Event::Done(_) = event? {
                return Ok(());
            }
        }
        Err(ModelError::new(Class::Network, "the answer had no end"))
    };
    let ended = match tokio::time::timeout(PATIENCE, asked).await {
        Ok(ended) => ended,
        Err(_) => Err(ModelError::new(Class::Network, "no answer within a minute")),
    };
    let latency_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    match ended {
        Ok(()) => ModelAnswer { ok: true, class: None, message: None, latency_ms },
        Err(error) => ModelAnswer {
            ok: false,
            class: Some(error.class.as_str()),
            message: Some(error.message),
            latency_ms,
        },
    }
}
