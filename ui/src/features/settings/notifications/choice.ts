// What a person chooses for a channel, as the fields of its forms have it.

import type { ChannelPatch, ChannelView } from '../../../protocol/wire';

export interface ChannelChoice {
  privacy: string;
  delay: string;
  risk: string;
  answer: string;
}

export const USUAL: ChannelChoice = { privacy: 'tool', delay: '60', risk: 'low', answer: 'none' };

export function choiceOf(channel: ChannelView): ChannelChoice {
  return { privacy: channel.privacy, delay: String(channel.delay), risk: channel.minRisk, answer: channel.answer };
}

/** As the host takes it. */
export function written(choice: ChannelChoice) {
  return {
    privacy: choice.privacy,
    delay: Number(choice.delay),
    minRisk: choice.risk,
    answer: choice.answer,
  } as Required<Pick<ChannelPatch, 'privacy' | 'delay' | 'minRisk' | 'answer'>>;
}
