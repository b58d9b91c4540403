/** How the button and the window of a share look. */
export interface Look {
  readonly color: string | null
  readonly position: 'right' | 'left'
  readonly language: 'auto' | 'zh' | 'en'
  readonly title: string | null
  readonly icon: string | null
}

const PLAIN: Look = { color: null, position: 'right', language: 'auto', title: null, icon: null }

/** How the share looks now; plain where the site or the server refuses to tell. */
export async function lookOf(origin: string, token: string): Promise<Look> {
  try {
    const response = await fetch(`${origin}/s/${encodeURIComponent(token)}/look`, {
      credentials: 'omit',
    })
    return response.ok ? { ...PLAIN, ...((await response.json()) as Partial<Look>) } : PLAIN
  } catch {
    return PLAIN
  }
}
