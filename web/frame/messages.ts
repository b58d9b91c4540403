/** What the page and a frame of it say to each other, over one port. */

/** What a frame shows. */
export type FrameKind = 'html' | 'mermaid' | 'vega-lite'

export interface Order {
  readonly kind: FrameKind
  readonly text: string
  readonly dark: boolean
}

export type ToFrame = ({ readonly is: 'order' } & Order) | { readonly is: 'ping' }

export type FromFrame =
  | { readonly is: 'pong' }
  /** Drawn; `svg` is the drawing as a file, null for a page. */
  | { readonly is: 'drawn'; readonly svg: string | null }
  | { readonly is: 'height'; readonly height: number }
  | { readonly is: 'failed'; readonly line: string }
  /** Begins to load another page. */
  | { readonly is: 'leaving' }
  /** The browser has not what keeps a page inside. */
  | { readonly is: 'unwalled' }

/** Draws into an element; resolves with the drawing as a file. */
export type Draw = (place: HTMLElement, text: string, dark: boolean) => Promise<string>

declare global {
  // The script of a library sets it for the frame's own.
  var moonbaseDraw: Draw | undefined
}
