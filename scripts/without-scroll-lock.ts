/**
 * Leaves out what Radix brings to lock the scrolling of a page: it works by a style element, which
 * the content security policy forbids. Our style sheet locks it under a dialog, and menus leave it
 * alone (`modal={false}`).
 */
export const withoutScrollLock: Bun.BunPlugin = {
  name: 'without scroll lock',
  setup(build) {
    build.onResolve({ filter: /^react-remove-scroll$/ }, ({ path }) => ({
      path,
      namespace: 'left-out',
    }))
    build.onLoad({ filter: /./, namespace: 'left-out' }, () => ({
      contents: 'export const RemoveScroll = ({ children }) => children',
      loader: 'js',
    }))
  },
}
