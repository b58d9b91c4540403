/** Messages between the server and its recogniser process; one recording is open at a time. */
export type AsrRequest =
  /** The next part of recording `id`: 16 kHz mono, signed 16 bit; may split a sample. */
  | { readonly type: 'samples'; readonly id: number; readonly pcm: Uint8Array }
  | { readonly type: 'end'; readonly id: number }
  /** Nobody waits for the text any more. */
  | { readonly type: 'cancel'; readonly id: number }

export type AsrAnswer =
  /** The text of recording `id`; also the answer to `cancel`. */
  | { readonly type: 'text'; readonly id: number; readonly text: string }
  | { readonly type: 'error'; readonly id: number; readonly message: string }
