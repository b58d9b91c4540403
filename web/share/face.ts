/** What the server has written into the page of a share. */
export interface Face {
  readonly icon: string | null
  readonly greeting: string | null
  readonly starters: readonly string[]
  readonly paused: boolean
  /** Whether the link leads to nothing any more. */
  readonly gone: boolean
  readonly color: string | null
  readonly language: 'auto' | 'zh' | 'en'
}

const NONE: Face = {
  icon: null,
  greeting: null,
  starters: [],
  paused: false,
  gone: false,
  color: null,
  language: 'auto',
}

/** The face of this page; a plain one on a page that is no share's. */
function read(): Face {
  try {
    const text = document.querySelector('script#face[type="application/json"]')?.textContent
    return { ...NONE, ...(JSON.parse(text ?? '{}') as Partial<Face>) }
  } catch {
    return NONE
  }
}

export const face = read()

/** Whether nothing can be asked here now. */
export const isClosed = face.paused || face.gone

/** Black or white, whichever reads better on a colour. */
export function inkOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  // At this luminance both have the same contrast (WCAG 2.2).
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff'
}
