import mermaid from 'mermaid'

const FONT = 'system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'
const CHARS_MAX = 512 * 1024

/** Colours of the console's dark theme. */
const DARK = {
  mainBkg: '#1b2b3c',
  nodeBorder: '#8fbce8',
  lineColor: '#979ea8',
  edgeLabelBackground: '#0f1217',
}

/** What a drawing has no use for and a browser would run or follow. */
const ACTIVE = 'script, style[src], animate[attributeName=href], set[attributeName=href]'

function cleaned(svg: string): SVGElement {
  const holder = document.createElement('template')
  holder.innerHTML = svg
  const drawing = holder.content.querySelector('svg')
  if (!drawing) throw new Error('nothing was drawn')
  for (const part of drawing.querySelectorAll(ACTIVE)) part.remove()
  for (const part of [drawing, ...drawing.querySelectorAll('*')]) {
    for (const { name, value } of [...part.attributes]) {
      if (/^on/i.test(name) || (/href$/i.test(name) && !value.startsWith('#'))) {
        part.removeAttribute(name)
      }
    }
  }
  return drawing
}

globalThis.moonbaseDraw = async (place, text, dark) => {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    layout: 'dagre',
    theme: dark ? 'dark' : 'default',
    ...(dark ? { themeVariables: DARK } : {}),
    maxTextSize: CHARS_MAX,
    // Labels of HTML would be lost in the picture that is downloaded.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    fontFamily: FONT,
  })
  const { svg } = await mermaid.render('drawing', text)
  const drawing = cleaned(svg)
  place.replaceChildren(drawing)
  return new XMLSerializer().serializeToString(drawing)
}
