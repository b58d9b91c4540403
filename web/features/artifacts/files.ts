const PIXELS_MAX = 4_096
const SHARPNESS = 2
const SVG = 'http://www.w3.org/2000/svg'

/** A drawing as a picture, which runs no script and fetches nothing. */
export const pictureOf = (svg: string): string =>
  `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`

/** A drawing that says its namespace, which a picture needs and models forget. */
export const named = (svg: string): string =>
  /<svg[^>]*\sxmlns=/i.test(svg) ? svg : svg.replace(/<svg(?=[\s>])/i, `<svg xmlns="${SVG}"`)

/** The size of a drawing by its own words: a picture of 100 % width has none. */
function sizeOf(root: Element): readonly [number, number] {
  const own = ['width', 'height'].map((name) => root.getAttribute(name) ?? '')
  const [width = 0, height = 0] = own.map((text) => (/%/.test(text) ? 0 : Number.parseFloat(text)))
  const box = (root.getAttribute('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  return [width || box[2] || 300, height || box[3] || 150]
}

/** The drawing in pixels; throws where the browser cannot read it. */
export async function pngOf(svg: string): Promise<Blob> {
  const root = new DOMParser().parseFromString(named(svg), 'image/svg+xml').documentElement
  const [width, height] = sizeOf(root)
  const scale = Math.min(SHARPNESS, PIXELS_MAX / width, PIXELS_MAX / height)
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(width * scale))
  canvas.height = Math.max(1, Math.round(height * scale))
  root.setAttribute('width', String(canvas.width))
  root.setAttribute('height', String(canvas.height))
  const image = new Image()
  image.src = pictureOf(new XMLSerializer().serializeToString(root))
  await image.decode()
  canvas.getContext('2d')?.drawImage(image, 0, 0)
  const { promise, resolve, reject } = Promise.withResolvers<Blob>()
  canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png')
  return promise
}
