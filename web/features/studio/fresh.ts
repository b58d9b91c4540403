const ID_BYTES = 16

/** The id of a new talk, which nobody can guess. */
export const freshSession = (): string =>
  `play-${[...crypto.getRandomValues(new Uint8Array(ID_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`
