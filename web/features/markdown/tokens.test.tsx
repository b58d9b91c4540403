import { describe, expect, test } from 'bun:test'
import { marked } from 'marked'
import { renderToStaticMarkup } from 'react-dom/server'
import temml from 'temml'
import { en } from '../../i18n/en.ts'
import { I18nProvider } from '../../i18n/index.tsx'
import { ToastsContext } from '../../lib/services.tsx'
import { createToasts } from '../../lib/toasts.ts'
import { SIZE_MAX } from './math.tsx'
import { Show } from './tokens.tsx'

const html = (text: string) =>
  renderToStaticMarkup(
    <I18nProvider initial={{ language: 'en', dictionary: en, words: () => null }}>
      <ToastsContext value={createToasts()}>
        {marked.lexer(text).map((token) => (
          <Show key={token.raw} token={token} />
        ))}
      </ToastsContext>
    </I18nProvider>,
  )

describe('a reply as elements', () => {
  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['a <img src=x onerror=alert(1)> b', '&lt;img src=x onerror=alert(1)&gt;'],
    ['<b>x</b>', '&lt;b&gt;x&lt;/b&gt;'],
  ])('HTML in a reply stays text: %p', (text, expected) => {
    const shown = html(text)
    expect(shown).toContain(expected)
    expect(shown).not.toMatch(/<(script|img|b)\b/)
  })

  test.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,hi)',
    '[x](vbscript:x)',
    '[x](//evil.example)',
    '[x](/console/keys)',
    '![x](javascript:alert(1))',
    '<javascript:alert(1)>',
  ])('an unsafe address in a reply is no link: %p', (text) => {
    expect(html(text)).not.toMatch(/href|src=/)
  })

  test('links of a reply send no referrer, and pictures become links', () => {
    expect(html('[x](https://example.com/a)')).toBe(
      '<p><a href="https://example.com/a" target="_blank" ' +
        'rel="noreferrer noopener nofollow">x</a></p>',
    )
    const picture = html('![a cat](https://example.com/cat.png)')
    expect(picture).toContain('>a cat</a>')
    expect(picture).not.toContain('<img')
  })

  test('escapes in a reply are undone once', () => {
    expect(html('a & b < c "d" `x < y & z`')).toBe(
      '<p>a &amp; b &lt; c &quot;d&quot; <code>x &lt; y &amp; z</code></p>',
    )
    expect(html('&lt;b&gt; and &amp;lt;')).toContain('&lt;b&gt; and &amp;lt;')
    expect(html('it&#39;s&nbsp;5 &bogus;')).toBe('<p>it&#x27;s\u00a05 &amp;bogus;</p>')
  })

  test('code in a reply keeps its escapes, which a person asked for', () => {
    expect(html('write `&amp;` for &amp;')).toBe('<p>write <code>&amp;amp;</code> for &amp;</p>')
  })

  test('a line break within a cell is one, however it is written', () => {
    expect(html('| a |\n| - |\n| 1<br>2<BR />3 |')).toContain('<td>1<br/>2<br/>3</td>')
    expect(html('x <br onclick=alert(1)> y')).toContain('&lt;br onclick')
  })

  test('lists, tables, quotes and code of a reply become elements', () => {
    const shown = html('3. c\n4. d\n\n> q\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```js\n1 < 2\n```')
    expect(shown).toContain('<ol start="3" dir="auto">')
    expect(shown).toContain('<blockquote><p>q</p></blockquote>')
    expect(shown).toContain('<th>a</th>')
    expect(shown).toContain('<code>1 &lt; 2</code>')
  })

  test('table columns keep their alignment, and task items show a box', () => {
    const shown = html('| a | b |\n| :-: | --: |\n| 1 | 2 |\n\n- [x] done')
    expect(shown).toContain('<th data-align="center">a</th>')
    expect(shown).toContain('<td data-align="right">2</td>')
    expect(shown).toContain('<li class="task">')
  })
})

test.each(['\\rule{9999em}{9999em}', '\\hspace{9999cm}x', 'a\\kern 9999pt b'])(
  'a formula does not cover the page: %s',
  (tex) => {
    const drawn = temml.renderToString(tex, { maxSize: SIZE_MAX })
    expect(drawn).toMatch(/20em|240pt/)
    expect(drawn).not.toMatch(/\d{4}/)
  },
)
