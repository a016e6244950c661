/** Where what had the focus has gone, it is at the heading of what is around, else at the page's: not lost. */
export function giveFocusBack(around?: HTMLElement | null): void {
  if (document.activeElement !== document.body) return;
  (around ?? document.querySelector('h1'))?.focus({preventScroll: true});
}
