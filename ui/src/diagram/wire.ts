// What the page and the frame that draws diagrams say to one another.

/** Colours of the page, so that a diagram belongs to it. */
export interface Colours {
  dark: boolean;
  background: string;
  surface: string;
  border: string;
  line: string;
  text: string;
  note: string;
  /** Of parts beside one another, as slices of a pie. */
  parts: string[];
}

export interface Wish {
  id: number;
  source: string;
  colours: Colours;
}

/** The drawing as an SVG text, or why there is none. */
export type Drawing = { svg: string } | { problem: string };

export type Told = { ready: true } | ({ id: number } & Drawing);

/** A longer text is no diagram a person reads. */
export const MAX_SOURCE = 20_000;
/** Characters of a drawing. */
export const MAX_SVG = 2_000_000;
