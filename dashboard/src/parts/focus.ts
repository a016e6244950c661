/** Moves the focus to the heading of the surrounding part, or of the page, if the focused element is gone. The focus is never lost. */
export function giveFocusBack(around?: HTMLElement | null): void {
  if (document.activeElement !== document.body) return;
  (around ?? document.querySelector('h1'))?.focus({preventScroll: true});
}
