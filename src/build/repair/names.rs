//! Which distribution brings a module or a fixture, where the name alone does not say it.

use crate::build::lock::normalise;

/// Modules whose distribution has another name.
const MODULES: &[(&str, &str)] = &[
    ("OpenSSL", "pyopenssl"),
    ("PIL", "pillow"),
    ("_pytest", "pytest"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("cv2", "opencv-python-headless"),
    ("dateutil", "python-dateutil"),
    ("docx", "python-docx"),
    ("dotenv", "python-dotenv"),
    ("git", "gitpython"),
    ("google.protobuf", "protobuf"),
    ("jose", "python-jose"),
    ("jwt", "pyjwt"),
    ("magic", "python-magic"),
    ("markdown_it", "markdown-it-py"),
    ("multipart", "python-multipart"),
    ("mypy_extensions", "mypy-extensions"),
    ("nacl", "pynacl"),
    ("pkg_resources", "setuptools"),
    ("psycopg2", "psycopg2-binary"),
    ("pygit2", "pygit2"),
    ("ruamel", "ruamel-yaml"),
    ("ruamel.yaml", "ruamel-yaml"),
    ("serial", "pyserial"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("slugify", "python-slugify"),
    ("socks", "pysocks"),
    ("usb", "pyusb"),
    ("xdist", "pytest-xdist"),
    ("yaml", "pyyaml"),
    ("zmq", "pyzmq"),
    ("zope.interface", "zope-interface"),
];

/// Fixtures and the pytest plugin that brings them.
const FIXTURES: &[(&str, &str)] = &[
    ("aiohttp_client", "pytest-aiohttp"),
    ("aioresponses", "aioresponses"),
    ("anyio_backend", "anyio"),
    ("benchmark", "pytest-benchmark"),
    ("class_mocker", "pytest-mock"),
    ("cov", "pytest-cov"),
    ("datadir", "pytest-datadir"),
    ("data_regression", "pytest-regressions"),
    ("event_loop", "pytest-asyncio"),
    ("faker", "faker"),
    ("file_regression", "pytest-regressions"),
    ("freezer", "pytest-freezer"),
    ("fs", "pyfakefs"),
    ("httpbin", "pytest-httpbin"),
    ("httpbin_secure", "pytest-httpbin"),
    ("httpserver", "pytest-httpserver"),
    ("httpx_mock", "pytest-httpx"),
    ("mocker", "pytest-mock"),
    ("module_mocker", "pytest-mock"),
    ("num_regression", "pytest-regressions"),
    ("qtbot", "pytest-qt"),
    ("requests_mock", "requests-mock"),
    ("respx_mock", "respx"),
    ("script_runner", "pytest-console-scripts"),
    ("session_mocker", "pytest-mock"),
    ("shared_datadir", "pytest-datadir"),
    ("snapshot", "syrupy"),
    ("subtests", "pytest-subtests"),
    ("testdir", "pytest"),
];

/// The distribution that brings a module: by the table, longest name first, else the top-level name itself.
pub fn distribution_of_module(module: &str) -> String {
    let mut name = module;
    loop {
        if let Some((_, distribution)) = MODULES.iter().find(|(known, _)| *known == name) {
            return (*distribution).to_owned();
        }
        match name.rfind('.') {
            Some(dot) => name = &name[..dot],
            None => return normalise(name),
        }
    }
}

/// The pytest plugin that brings a fixture, where it is a known one.
pub fn distribution_of_fixture(fixture: &str) -> Option<&'static str> {
    FIXTURES
        .iter()
        .find(|(known, _)| *known == fixture)
        .map(|(_, distribution)| *distribution)
}
