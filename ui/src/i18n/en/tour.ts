// Texts of the first minute.

export const tour = {
  headline: 'Run AI agents and apps on this computer',
  promise: 'Nothing that matters happens without your OK.',
  cards: {
    file: { title: 'Let an agent change a file', text: 'See the change, approve it, undo it. In an empty folder.' },
    app: { title: 'Open an app', text: 'Notes runs right here. Agents can use it, too.' },
    question: { title: 'Answer a question', text: 'A program asks. It waits in your inbox until you answer.' },
  },
  agent: 'Tryout',
  fileMessage: 'Show me a file change to approve',
  question: {
    title: 'What would you like to do first?',
    message: 'This question comes from a program. It waits here until you answer.',
    options: [
      { value: 'Write code', label: 'Write code' },
      { value: 'Organize notes and tasks', label: 'Organize notes and tasks' },
      { value: 'Just look around', label: 'Just look around' },
    ],
  },
  told: (text: string) => `The program got your answer: ${text}`,
  model: {
    title: 'Add a model to get real answers',
    text: 'One on this computer, one with a key, or one by address.',
    add: 'Add a model',
    found: 'Found on this computer',
  },
  added: (name: string) => `${name} added. New chats use it.`,
  progress: (done: number, of: number) => `${done} of ${of} done`,
  steps: 'First steps',
  stepNames: { file: 'Change a file', app: 'Open an app', question: 'Answer', model: 'Add a model', chat: 'Chat' },
  done: 'done',
  hide: 'Hide first steps',
};
