/** Dispatched on the window to open the list of keyboard shortcuts, the palette, and the menu. */
export const SHORTCUTS_ASKED = 'mb:shortcuts'
export const PALETTE_ASKED = 'mb:palette'
export const MENU_ASKED = 'mb:menu'

export const ask = (what: typeof SHORTCUTS_ASKED | typeof PALETTE_ASKED | typeof MENU_ASKED) =>
  void dispatchEvent(new Event(what))

/** The keys of the palette as they are named on this machine. */
export const paletteKeys = () => (/Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘K' : 'Ctrl K')

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
