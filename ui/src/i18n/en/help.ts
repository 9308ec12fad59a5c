// Texts of Settings › Help.

export const help = {
  contents: 'In this guide',
  open: (page: string) => `Open ${page}`,
  more: 'This guide with pictures, and everything else that is written about ChatOS, is in the folder `docs` of its sources: begin with `docs/guide.md`.',
};
