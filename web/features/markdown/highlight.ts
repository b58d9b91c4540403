import { common, createLowlight } from 'lowlight'

const colours = createLowlight(common)

/** The part of lowlight's tree that is used. */
export type Highlighted = Pick<ReturnType<typeof colours.highlight>, 'children'>

/** The text as coloured spans; null for an unknown language. */
export const highlight = (text: string, language: string): Highlighted | null =>
  colours.registered(language) ? colours.highlight(language, text) : null
