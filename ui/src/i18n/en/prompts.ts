// Texts of the hub and of the Queue page.

export const prompts = {
  queueTitle: 'Queue',
  hub: 'Hub',
  hubLabel: (needsYou: number, results: number) => {
    const waiting = needsYou === 0 ? 'nothing needs you' : `${needsYou} ${needsYou === 1 ? 'thing needs' : 'things need'} you`;
    return results === 0 ? `Hub: ${waiting}` : `Hub: ${waiting}, ${results} unread ${results === 1 ? 'result' : 'results'}`;
  },
  tabs: { needsYou: 'Needs you', results: 'Results', history: 'History' },
  empty: {
    needsYou: 'Nothing needs you. A question from an app, a tool or another program waits here until you answer it.',
    results: 'No results. What a long task reports when it is finished appears here.',
    history: 'No history. Everything that was asked and answered can be found here later.',
  },
  openQueue: 'Open the queue',
  queueEmpty: 'Nothing needs you. A question from an app, a tool or another program waits here until you answer it.',
  queueButton: 'Settings for confirmations',
  exampleIntro: 'Be asked before a file is changed:',
  example: 'chatos settings set confirmFileChanges true',
};
