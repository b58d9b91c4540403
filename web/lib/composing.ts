interface Key {
  readonly isComposing: boolean
  readonly keyCode: number
}

/** The code of every key that an input method has taken. */
const TAKEN = 229

/**
 * Whether a key goes to an input method, such as the Enter that takes its word. In Safari that key
 * comes when the word is there already, and has this code alone.
 */
export const isComposing = ({ isComposing: composes, keyCode }: Key): boolean =>
  composes || keyCode === TAKEN
