r"""JupyterLab as a person uses it: open a notebook, run all cells, move a slider, look for errors, take pictures.

``make browser-test`` runs it; it is not part of ``make test``. It needs the system's ``chromium`` and ``chromedriver``
and works on copies of the notebooks, on the loopback interface only. Pictures go to ``browser/screenshots/``.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # its tools
from tools.run_notebooks import NUMBER, difference, tolerance  # noqa: E402

SCREENSHOTS = ROOT / "browser" / "screenshots"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1600",
)


#: What a notebook may be long, beside the list of files.
SCREENS = 12
#: Seconds until a wait is given up, on a machine that may be busy with other things; times are printed, not tested.
PATIENCE = 900


def waited(condition: Callable[[], object], what: str, seconds: float = PATIENCE, every: float = 0.25) -> object:
    """The first true value of ``condition``; an error that says what did not come."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(every)
    raise AssertionError(f"waited {seconds:g} s for {what}")


@contextmanager
def running(*command: str, notebooks: Path, url: str) -> Iterator[None]:
    """A server as a child process, stopped at the end."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "JUPYTER_CONFIG_DIR": str(notebooks.parent / "config"),
        "JUPYTER_DATA_DIR": str(notebooks.parent / "data"),  # no notebook was signed there, so none is trusted
        "JUPYTERLAB_SETTINGS_DIR": str(notebooks.parent / "settings"),
    }
    # Nothing is asked of the world outside, and no question about it covers the pictures.
    quiet = notebooks.parent / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    printed = notebooks.parent / f"{command[0]}.log"
    with printed.open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=notebooks, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            waited(lambda: answers(url) or server.poll() is not None, f"{command[0]} to start")
            if server.poll() is not None:
                raise AssertionError(f"{command[0]} stopped: {printed.read_text()[-2000:]}")
            yield
        finally:
            server.terminate()
            server.wait(PATIENCE)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """A headless Chromium with a profile of its own that is thrown away."""
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    for name, path in programs.items():
        if path is None:
            raise SystemExit(f"{name} is missing; on Debian: apt-get install chromium chromium-driver")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = programs["chromium"]
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, webdriver.ChromeService(programs["chromedriver"]))
        driver.set_page_load_timeout(PATIENCE)
        # A page without the focus has no current notebook, and then no command knows which one is meant.
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        driver.command_executor.client_config.timeout = PATIENCE  # no answer within 120 s is an error otherwise
        try:
            yield driver
        finally:
            driver.quit()


#: What scrolls, the notebook that is open; whether all its formulas in view are drawn; what can be seen of it.
VIEW = (
    "const panel = () => window.jupyterapp.shell.currentWidget.node;"
    "const view = () => panel().querySelector('.jp-WindowedPanel-outer');"
)
DRAWN = (
    "const raw = /\\\\(displaystyle|frac|varepsilon|begin|left)\\b|\\$/;"
    "return ![...panel().querySelectorAll('.jp-RenderedMarkdown, .jp-RenderedLatex')].some(node => {"
    "  const copy = node.cloneNode(true);"
    "  for (const own of copy.querySelectorAll('mjx-container, code, pre')) own.remove();"
    "  return raw.test(copy.textContent)})"
)
ON = "const v = view(), was = v.scrollTop; v.scrollTop += 0.8 * v.clientHeight; return v.scrollTop === was"
HEIGHT = (
    "const end = panel().querySelector('.jp-Notebook-footer').getBoundingClientRect().bottom, v = view();"
    "return end - v.getBoundingClientRect().top + v.scrollTop"
)
SEEN = """
const faults = [], texts = {};
for (const one of panel().querySelectorAll('mjx-merror')) faults.push('refused: ' + one.textContent.slice(0, 200));
for (const one of panel().querySelectorAll('.jp-RenderedMarkdown, .jp-OutputArea-output')) {
  if (one.clientWidth && one.scrollWidth > one.clientWidth + 1 && !one.matches('.jp-RenderedText'))
    faults.push(`${one.scrollWidth} px in a column of ${one.clientWidth}: ` + one.textContent.slice(0, 200));
  if (one.matches('[data-mime-type="application/vnd.jupyter.error"]')) faults.push(one.textContent.slice(-300));
}
for (const cell of panel().querySelectorAll('.jp-CodeCell')) {
  const outputs = [...cell.querySelectorAll('.jp-OutputArea-output')];
  if (outputs.length) texts[cell.dataset.windowedListIndex] = outputs.map(one => one.innerText).join('\\n');
}
return {faults, texts};
"""


class Lab:
    """One notebook in JupyterLab."""

    def __init__(self, driver: webdriver.Chrome, address: str, token: str, name: str) -> None:
        self.driver, self.name = driver, name
        driver.get(f"{address}/lab/workspaces/{name}/tree/{name}.ipynb?token={token}&reset")
        waited(lambda: driver.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell"), f"{name} to open")
        waited(self._idle, "the kernel to be ready")

    def _idle(self) -> bool:
        return bool(
            self.driver.execute_script(
                "const p = window.jupyterapp?.shell.currentWidget;"
                "return p?.sessionContext?.session?.kernel?.status === 'idle'"
            )
        )

    def run(self, command: str, **arguments: str) -> None:
        """A command of JupyterLab, as its menus run it, to its end."""
        self.driver.execute_script(
            "const [name, given] = arguments, end = how => { window.ended = how }; end(null);"
            "window.jupyterapp.commands.execute(name, given).then(() => end('well'), e => end(String(e)))",
            command,
            arguments,
        )
        ended = waited(lambda: self.driver.execute_script("return window.ended"), f"{command} in {self.name}")
        assert ended == "well", f"{command}: {ended}"

    def run_all(self) -> float:
        """Clear the outputs that were saved, run all cells; the seconds that it took."""
        self.run("notebook:clear-all-cell-outputs")
        start = time.monotonic()
        self.run("notebook:run-all-cells")
        waited(self._idle, f"all cells of {self.name}")
        assert not self.errors(), f"{self.name}: {self.errors()}"
        counts = self.cells()
        assert counts == list(range(1, len(counts) + 1)), f"{self.name}: cells ran as {counts}"
        return time.monotonic() - start

    def shut_down(self) -> None:
        """End the kernel: who opens the notebook again begins anew."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "window.jupyterapp.shell.currentWidget.sessionContext.shutdown().then(() => done())"
        )

    def cells(self) -> list[int]:
        """The numbers of the cells that were run, from the model: cells out of sight are not on the page."""
        return list(
            self.driver.execute_script(
                "const list = [];"
                "for (const c of window.jupyterapp.shell.currentWidget.content.model.cells)"
                " if (c.type === 'code') list.push(c.executionCount);"
                "return list"
            )
        )

    def errors(self) -> list[str]:
        """Outputs of the model that are errors or went to stderr."""
        return list(
            self.driver.execute_script(
                "const list = [];"
                "for (const c of window.jupyterapp.shell.currentWidget.content.model.cells)"
                " if (c.type === 'code') for (const o of c.sharedModel.outputs ?? c.outputs.toJSON())"
                "  if (o.output_type === 'error' || o.name === 'stderr') list.push(o.evalue ?? o.text);"
                "return list.map(String)"
            )
        )

    def look(self) -> dict[int, str]:
        """Scroll through the whole notebook and find fault; the text of each code cell's outputs, by its place.

        JupyterLab draws only what is in view, and formulas a moment later.
        """
        texts: dict[int, str] = {}
        self.driver.execute_script(VIEW + "view().scrollTop = 0")
        end = False
        while not end:
            time.sleep(0.3)  # what came into view is put on the page a moment later
            waited(lambda: self.driver.execute_script(VIEW + DRAWN), f"the formulas of {self.name} to be drawn", 60)
            for _ in range(5):  # a line with formulas is broken again when their letters have come
                seen = self.driver.execute_script(VIEW + SEEN)
                if not seen["faults"]:
                    break
                time.sleep(1)
            assert not seen["faults"], f"{self.name}: {seen['faults'][:5]}"
            for place, text in seen["texts"].items():  # a cell that is half in view may be there in part
                texts[int(place)] = max(text, texts.get(int(place), ""), key=len)
            end = self.driver.execute_script(VIEW + ON)
        height = self.driver.execute_script(VIEW + HEIGHT)
        assert height <= SCREENS * 1_000, f"{self.name}: {height / 1_000:.1f} screens of 1,000 px"
        return texts

    def picture(self, name: str) -> None:
        self.driver.save_screenshot(str(SCREENSHOTS / f"{name}.png"))

    def show(self, selector: str) -> object:
        """The first element that fits, scrolled into view."""
        (element, *_) = waited(lambda: self.driver.find_elements(By.CSS_SELECTOR, selector), selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        time.sleep(0.5)
        return element


def shown(driver: webdriver.Chrome, tag: str) -> str:
    """The chart or the table as it is now, read in one go: it may be replaced at any time."""
    script = "return document.querySelector('.widget-html-content ' + arguments[0])?.outerHTML ?? ''"
    return str(driver.execute_script(script, tag))


def moved_slider(driver: webdriver.Chrome, which: int = 0, key: str = Keys.ARROW_LEFT) -> float:
    """Press an arrow key on a slider, that of ε0 if no other is named; the seconds until the chart is another."""
    handles = waited(lambda: driver.find_elements(By.CSS_SELECTOR, ".noUi-handle"), "sliders")
    before = waited(lambda: shown(driver, "img"), "the chart")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", handles[which])
    start = time.monotonic()
    handles[which].send_keys(key)

    def changed() -> bool:
        return shown(driver, "img") not in ("", before)

    waited(changed, "the chart to follow the slider", every=0.01)
    return time.monotonic() - start


def settled(driver: webdriver.Chrome) -> str:
    """The chart when all that comes at rest has come, and nothing is refused."""

    def still() -> str:
        table, before = shown(driver, "table"), shown(driver, "img")
        time.sleep(0.3)
        return before if before and before == shown(driver, "img") and "…</td>" not in table else ""

    chart = str(waited(still, "the chart to settle"))
    assert "color:#D55E00" not in driver.page_source, "the explorer refuses"
    return chart


def every_control(driver: webdriver.Chrome, picture: Callable[[str], None]) -> None:
    """Move each slider, list, field and button once; every move but that of nothing gives another chart."""

    def changed(what: str, move: Callable[[], None]) -> None:
        before = settled(driver)
        move()
        waited(lambda: shown(driver, "img") not in ("", before), f"the chart to follow {what}", every=0.05)
        settled(driver)

    def found(selector: str, which: int) -> WebElement:
        """An element as it is now: the page may have replaced the one that was there a moment ago."""
        return driver.find_elements(By.CSS_SELECTOR, selector)[which]

    def pressed(which: int, key: str) -> Callable[[], None]:
        return lambda: found(".noUi-handle", which).send_keys(key)

    def chosen(which: int, option: str) -> Callable[[], None]:
        return lambda: Select(found(".widget-dropdown select", which)).select_by_visible_text(option)

    def clicked(which: int) -> Callable[[], None]:
        return lambda: found(".widget-toggle-button", which).click()

    def typed(text: str) -> None:
        field = driver.find_element(By.CSS_SELECTOR, ".widget-text input")
        field.clear()
        field.send_keys(text, Keys.TAB)

    changed("the other randomizer", chosen(1, "krr"))
    for i in range(len(driver.find_elements(By.CSS_SELECTOR, ".noUi-handle"))):
        now, most = (float(found(".noUi-handle", i).get_attribute(f"aria-value{end}") or 0) for end in ("now", "max"))
        changed(f"slider {i}", pressed(i, Keys.ARROW_LEFT if now >= most else Keys.ARROW_RIGHT))
    picture("explorer_groups")
    # Continuous noise is not sampled: everybody takes part again.
    changed("take part", pressed(-2, Keys.ARROW_RIGHT))
    # Several rounds of noise take longer than anybody waits: one round again.
    changed("one round", pressed(-3, Keys.HOME))
    changed("no other randomizer", chosen(1, "none"))
    for name in ("laplace", "gaussian", "density", "matrix"):
        changed(name, chosen(0, name))
        if name == "gaussian":
            picture("explorer_gaussian")
    changed("a matrix", lambda: typed("0.6 0.4; 0.2 0.8"))
    changed("k-RR", chosen(0, "krr"))
    for i, name in enumerate(("n", "rounds", "level", "eps"), start=1):
        changed(f"the axis of {name}", clicked(i % 4))
        picture(f"explorer_over_{name}")
    driver.find_element(By.XPATH, "//button[contains(., 'export')]").click()
    waited(lambda: len(driver.find_elements(By.CSS_SELECTOR, "a[download^='explorer.']")) == 3, "three files")


def several_rounds(driver: webdriver.Chrome) -> tuple[float, float]:
    """Move the slider of the rounds, the fourth; the seconds to the certified curve, and to all that follows it."""
    start = time.monotonic()
    at_once = moved_slider(driver, 3, Keys.ARROW_RIGHT)

    def complete() -> bool:
        table = shown(driver, "table")
        return "basic composition" in table and "…</td>" not in table

    waited(complete, "the clones and the attack of several rounds", every=0.01)
    return at_once, time.monotonic() - start


def twice(lab: Lab, path: Path) -> None:
    """Look at a notebook as it is saved and not trusted, then run it and look again: no fault, no number that changes.

    What depends on the time it takes is left out, as everywhere; widgets are alive in the second view only.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lab.picture(f"{lab.name}_saved")
    saved = lab.look()
    seconds = lab.run_all()
    lab.picture(f"{lab.name}_run")
    now = lab.look()
    for place in sorted(saved.keys() & now.keys()):
        alive = any(
            "application/vnd.jupyter.widget-view+json" in one.get("data", {}) for one in cells[place]["outputs"]
        )
        rtol = None if alive else tolerance(cells[place])
        numbers = [" ".join(NUMBER.findall(text)) for text in (saved[place], now[place])]
        change = difference(*numbers, rtol) if rtol is not None else None
        assert change is None, f"{lab.name}, cell {place}: {change}"
    print(f"{lab.name}: looked at as saved and after {seconds:.1f} s of running, no fault", flush=True)


def lab_with_the_notebooks(notebooks: Path, driver: webdriver.Chrome) -> None:
    port, token = free_port(), secrets.token_hex(16)
    address = f"http://127.0.0.1:{port}"
    command = (
        "jupyterlab",
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        f"--IdentityProvider.token={token}",
        f"--notebook-dir={notebooks}",
        "--expose-app-in-browser",
        *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
    )
    with running(*command, notebooks=notebooks, url=f"{address}/api"):
        for path in sorted(notebooks.glob("*.ipynb")):
            lab = Lab(driver, address, token, path.stem)
            twice(lab, path)
            lab.shut_down()

        start = time.monotonic()
        lab = Lab(driver, address, token, "01_quickstart")
        opened = time.monotonic() - start
        seconds = lab.run_all()
        lab.picture("quickstart_top")
        lab.show(".jp-RenderedImage img")
        lab.picture("quickstart_plot")
        print(f"01_quickstart: opened in {opened:.1f} s, all cells in {seconds:.1f} s, no errors")

        lab = Lab(driver, address, token, "02_explorer")
        seconds = lab.run_all()
        lab.show(".noUi-handle")
        lab.picture("explorer")
        moved = moved_slider(driver)
        assert not lab.errors(), lab.errors()
        lab.picture("explorer_moved")
        print(f"02_explorer: all cells in {seconds:.1f} s, a slider moved in {1e3 * moved:.0f} ms, no errors")
        at_once, whole = several_rounds(driver)
        assert not lab.errors(), lab.errors()
        lab.picture("explorer_rounds")
        print(f"02_explorer: two rounds in {1e3 * at_once:.0f} ms, with clones and attack in {1e3 * whole:.0f} ms")
        every_control(driver, lab.picture)
        assert not lab.errors(), lab.errors()
        print("02_explorer: every control moved, no errors")
        lab.run("apputils:change-theme", theme="JupyterLab Dark")
        time.sleep(3)  # style sheets are loaded one after the other
        lab.picture("explorer_dark")


def page_of_the_explorer(notebooks: Path, driver: webdriver.Chrome) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = ("voila", "--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1", "02_explorer.ipynb")
    with running(*command, notebooks=notebooks, url=f"{address}/voila/static/voila.js"):
        driver.get(address)
        waited(lambda: driver.find_elements(By.CSS_SELECTOR, ".widget-html-content img"), "the page of the explorer")
        moved = moved_slider(driver)
        several_rounds(driver)
        text = driver.find_element(By.TAG_NAME, "body").text
        assert "Traceback" not in text
        assert "There was an error" not in text
        driver.save_screenshot(str(SCREENSHOTS / "voila.png"))
        print(f"the explorer as a page: a slider moved in {1e3 * moved:.0f} ms, no errors")


def main() -> int:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        notebooks = Path(folder) / "notebooks"
        shutil.copytree(ROOT / "notebooks", notebooks, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        with chromium() as driver:
            lab_with_the_notebooks(notebooks, driver)
        with chromium() as driver:
            page_of_the_explorer(notebooks, driver)
    print(f"pictures in {SCREENSHOTS.relative_to(ROOT)}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
