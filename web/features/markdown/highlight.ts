import { common, createLowlight } from 'lowlight'

const colours = createLowlight(common)

/** A part of the tree that lowlight makes. */
export type Highlighted = Pick<ReturnType<typeof colours.highlight>, 'children'>

/** The text in spans by its language; null for one that is not known. */
export const highlight = (text: string, language: string): Highlighted | null =>
  colours.registered(language) ? colours.highlight(language, text) : null
