/** By what a turn came in. */
export const DOORS = [
  'agent',
  'chat',
  'console',
  'mcp',
  'messages',
  'ollama',
  'responses',
  'share',
  'voice',
  'wyoming',
  'xiaozhi',
] as const
export type Door = (typeof DOORS)[number]
