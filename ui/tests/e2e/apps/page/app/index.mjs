// Uses the page it has to itself: styles in the head, an overlay on the body, downloads, clipboard, dialogs, storage.

export async function mount({ container }) {
  const style = document.createElement('style');
  style.textContent = '.test-title { color: rgb(1, 2, 3); } .test-overlay { position: fixed; inset: 10px 10px auto auto; background: var(--ds-floating-bg, #fff); }';
  document.head.append(style);

  const overlay = document.createElement('div');
  overlay.className = 'test-overlay';
  overlay.textContent = 'overlay';
  document.body.append(overlay);

  const visits = Number(localStorage.getItem('visits') ?? 0) + 1;
  localStorage.setItem('visits', String(visits));
  sessionStorage.setItem('seen', 'yes');

  const out = document.createElement('output');
  const button = (text, work) => {
    const element = document.createElement('button');
    element.textContent = text;
    element.onclick = async () => {
      try {
        out.textContent = String(await work());
      } catch (error) {
        out.textContent = `${error.name}: ${error.message}`;
      }
    };
    return element;
  };
  const title = document.createElement('h1');
  title.className = 'test-title';
  title.textContent = `visit ${visits}`;
  container.append(title, out,
    button('download', () => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(['a,b\n1,2\n'], { type: 'text/csv' }));
      link.download = 'table.csv';
      document.body.append(link);
      link.click();
      link.remove();
      return 'sent';
    }),
    button('copy', async () => {
      await navigator.clipboard.writeText('copied text');
      return navigator.clipboard.readText();
    }),
    button('confirm', () => confirm('really?')),
    button('prompt', () => prompt('name?', 'nobody')),
    button('alert', () => alert('hello') ?? 'alerted'));

  return () => {
    style.remove();
    overlay.remove();
    container.replaceChildren();
  };
}
