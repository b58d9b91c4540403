import { decodeText, textEncoding } from '../core/text-encoding.ts'
import { ParseFailure } from '../upstream/ports/parser.ts'
import { type Archive, openArchive, resolvePath } from './archive.ts'
import type { Piece, Reading } from './blocks.ts'
import { readBookPage } from './html.ts'
import { attribute, readXml } from './xml.ts'

const CONTAINER = 'META-INF/container.xml'
const ENCRYPTION = 'META-INF/encryption.xml'

interface Item {
  readonly path: string
  readonly isContents: boolean
}

/** The chapters of an electronic book in reading order (EPUB 3.3; also EPUB 2). */
export async function readEpub(bytes: Uint8Array): Promise<Reading> {
  const archive = openArchive(bytes)
  const { title, chapters, contents } = await packageOf(archive)
  const locked = await lockedIn(archive)
  if (chapters.some(({ path }) => locked.has(path))) throw new ParseFailure('encrypted')
  const titles = contents ? await titlesIn(archive, contents) : new Map<string, string>()
  const read = chapters.filter(({ path, isContents }) => !isContents && archive.has(path))
  return { title, pages: null, pieces: chapterPieces(archive, read, titles) }
}

async function* chapterPieces(
  archive: Archive,
  chapters: readonly Item[],
  titles: ReadonlyMap<string, string>,
): AsyncGenerator<Piece> {
  let heading: string | null = null
  for (const { path } of chapters) {
    const bytes = await archive.readAll(path)
    heading = titles.get(path) ?? heading
    for (const piece of readBookPage(
      decodeText(bytes, '', textEncoding(bytes) ?? 'utf-8'),
      heading,
    )) {
      heading = piece.heading ?? heading
      yield piece
    }
  }
}

/** Title, reading order and table of contents by the package document. */
async function packageOf(archive: Archive) {
  const path = await packagePath(archive)
  const items = new Map<string, Item>()
  const chapters: Item[] = []
  let contents: string | null = null
  let title = ''
  let titles = 0
  let isTitle = false
  await readXml(archive, path, {
    open(name, attributes) {
      isTitle = name === 'title' && titles++ === 0
      if (name === 'item') {
        const item = itemOf(
          path,
          attribute(attributes, 'href'),
          attribute(attributes, 'properties'),
        )
        items.set(attribute(attributes, 'id') ?? '', item)
        const isOld = attribute(attributes, 'media-type') === 'application/x-dtbncx+xml'
        if (item.isContents || (isOld && contents === null)) contents = item.path
      } else if (name === 'itemref') {
        const item = items.get(attribute(attributes, 'idref') ?? '')
        if (item) chapters.push(item)
      }
    },
    text(data) {
      if (isTitle) title += data
    },
    close() {
      isTitle = false
    },
  })
  return { title: title.trim() || null, chapters, contents: contents as string | null }
}

async function packagePath(archive: Archive): Promise<string> {
  let path: string | null = null
  await readXml(archive, CONTAINER, {
    open(name, attributes) {
      if (name === 'rootfile') path ??= attribute(attributes, 'full-path') ?? null
    },
  })
  if (path === null) throw new ParseFailure('unreadable')
  return path
}

function itemOf(from: string, href = '', properties = ''): Item {
  return {
    path: resolvePath(from, plainPath(href)),
    isContents: properties.split(' ').includes('nav'),
  }
}

/** An address in a book without its fragment. */
function plainPath(href: string): string {
  const [path = ''] = href.split('#')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** The titles of chapters by their files, from the table of contents of EPUB 3 or 2. */
async function titlesIn(archive: Archive, part: string): Promise<Map<string, string>> {
  const titles = new Map<string, string>()
  if (!archive.has(part)) return titles
  let text = ''
  let href: string | undefined
  const end = () => {
    const path = resolvePath(part, plainPath(href ?? ''))
    const title = text.replace(/\s+/g, ' ').trim()
    if (href && title !== '' && !titles.has(path)) titles.set(path, title)
    href = undefined
  }
  await readXml(archive, part, {
    open(name, attributes) {
      if (name === 'a') href = attribute(attributes, 'href')
      if (name === 'a' || name === 'navLabel') text = ''
      // In EPUB 2 the address comes after its label.
      if (name !== 'content') return
      href = attribute(attributes, 'src')
      end()
    },
    text(data) {
      text += data
    },
    close(name) {
      if (name === 'a') end()
    },
  })
  return titles
}

/** Files that copy protection has encrypted. */
async function lockedIn(archive: Archive): Promise<Set<string>> {
  const locked = new Set<string>()
  if (!archive.has(ENCRYPTION)) return locked
  await readXml(archive, ENCRYPTION, {
    open(name, attributes) {
      const uri = attribute(attributes, 'URI')
      if (name === 'CipherReference' && uri) locked.add(resolvePath('', plainPath(uri)))
    },
  })
  return locked
}
