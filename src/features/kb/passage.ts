/** What is embedded and looked up of a chunk: a piece of a text rarely says what it is about. */
export function passageText(title: string, text: string): string {
  return `${title}\n${text}`
}
