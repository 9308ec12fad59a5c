// The side drawer of the board and of Focus: the focus list is already small enough.

import focus from './index.mjs';

export const { mount } = focus;
