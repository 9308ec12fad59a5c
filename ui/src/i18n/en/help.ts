// Texts of Settings › Help.

export const help = {
  contents: 'In this guide',
  open: (page: string) => `Open ${page}`,
  more: 'This guide with pictures, and the rest of the documentation, is in the `docs` folder of the source code. Start with `docs/guide.md`.',
};
