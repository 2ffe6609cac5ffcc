/* Pages opened from disk may not start a worker, and the search runs in one. Here its script runs in a hidden frame of
   the page instead, with the same messages. Material's plugin for offline use takes this file for the one it would
   otherwise fetch from elsewhere, by the name. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #messages = [];
    #frame = document.createElement("iframe");

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.body.append(this.#frame);
      const inside = this.#frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => {
        const waiting = this.#messages;
        this.#messages = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.#messages) this.#messages.push(data);
      else this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
