// The user guide (docs/guide.md) as parts for the page: without its pictures, which show what is here anyway, and
// without the links to other documents, which are not.

export interface Part {
  /** The name of its picture, which is the same in both languages. */
  key: string;
  title: string;
  text: string;
}

export interface Guide {
  intro: string;
  parts: Part[];
}

const PICTURE = /^!\[.*\]\(pictures\/guide-([a-z]+)\..*\)$/;
/** Links to documents: to more about a part, and to the guide in the other language. */
const LINKS = /^(More: |延伸阅读：|\[(English|中文)\]\()/;

export function readGuide(text: string): Guide {
  const [head = '', ...sections] = text.split(/^## /m);
  const kept = (lines: string[]) => lines.filter((line) => !PICTURE.test(line) && !LINKS.test(line)).join('\n').replaceAll(/\n{3,}/g, '\n\n').trim();
  const parts = sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const key = lines.flatMap((line) => PICTURE.exec(line)?.[1] ?? [])[0] ?? '';
    return { key, title, text: kept(lines) };
  });
  return { intro: kept(head.split('\n').filter((line) => !line.startsWith('# '))), parts };
}
