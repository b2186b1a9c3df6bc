// Search in pages that are opened as files. A browser lets such a page neither fetch the index nor start a worker: the index
// comes as a script, and the worker's script runs in a frame.
if (location.protocol === "file:") {
  const index = document.currentScript.dataset.index;
  window.__search = {
    index: new Promise((done) => {
      window.searchIndex = done;
      document.head.append(Object.assign(document.createElement("script"), { src: index }));
    }),
  };
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      this.ready = new Promise((done) => { script.onload = done; });
      script.src = new URL(url, location.href);
      this.inside.document.body.append(script);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
