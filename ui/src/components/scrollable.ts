// Makes a box that scrolls reachable by keyboard, and only while it scrolls: a tab stop on a box that
// shows everything would be one key press for nothing.

export function scrollable(box: HTMLElement): () => void {
  const check = () => {
    if (box.scrollHeight > box.clientHeight + 1) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  };
  const sizes = new ResizeObserver(check);
  sizes.observe(box);
  const content = new MutationObserver(check);
  content.observe(box, { childList: true, subtree: true, characterData: true });
  check();
  return () => {
    sizes.disconnect();
    content.disconnect();
  };
}
