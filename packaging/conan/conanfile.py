"""The recipe of Conan 2: `conan create packaging/conan --build=missing` in a checkout."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps

SOCI = "4.0.3"


class Tableq(ConanFile):
    name = "tableq"
    description = "Durable queues in the tables of the SQL database that an application has"
    license = "MIT"
    topics = ("queue", "sql", "sqlite", "postgresql", "sqlserver")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "sqlite": [True, False],
        "postgresql": [True, False],
        "sqlserver": [True, False],
        "c_library": [True, False],
        "command": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "sqlite": True,
        "postgresql": False,
        "sqlserver": False,
        "c_library": False,
        "command": False,
    }

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "tableq", "version.hpp"))
        self.version = ".".join(
            re.search(rf"TABLEQ_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")
        )

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "*/*"):
            copy(self, pattern, self._root, self.export_sources_folder,
                 excludes=("build*", ".git/*", "tests/*", "*/test_package/build/*"))

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires(f"soci/{SOCI}", options={
            "with_sqlite3": bool(self.options.sqlite),
            "with_postgresql": bool(self.options.postgresql),
            "with_odbc": bool(self.options.sqlserver),
        })
        if self.options.sqlite:
            self.requires("sqlite3/[>=3.35 <4]")
        if self.options.postgresql:
            self.requires("libpq/[>=14]")
        if self.options.sqlserver and self.settings.os != "Windows":
            self.requires("odbc/[>=2.3 <3]")
        self.requires("nlohmann_json/[>=3.9 <4]", visible=False)
        self.requires("boost/[>=1.74 <2]", visible=False, options={"header_only": True})
        if self.options.command:
            self.requires("cli11/[>=2.1 <3]", visible=False)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tableq runs on Linux")
        if not (self.options.sqlite or self.options.postgresql or self.options.sqlserver):
            raise ConanInvalidConfiguration("give tableq at least one database")

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option, variable in (
            ("sqlite", "SQLITE"), ("postgresql", "POSTGRESQL"), ("sqlserver", "ODBC"), ("sqlserver", "SQLSERVER"),
            ("c_library", "C"), ("command", "TOOLS"),
        ):
            toolchain.cache_variables[f"TABLEQ_{variable}"] = bool(self.options.get_safe(option))
        for variable in ("TESTS", "EXAMPLES"):
            toolchain.cache_variables[f"TABLEQ_{variable}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan makes these for its own dependencies.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        library = self.cpp_info.components["tableq"]
        library.libs = ["tableq-cpp"]
        library.set_property("cmake_target_name", "tableq::tableq")
        library.set_property("pkg_config_name", "tableq")
        library.system_libs = ["pthread"]
        library.requires = ["soci::soci_core"]
        for option, parts in (
            ("sqlite", ["soci::soci_sqlite3", "sqlite3::sqlite3"]),
            ("postgresql", ["soci::soci_postgresql", "libpq::libpq"]),
            ("sqlserver", ["soci::soci_odbc", "odbc::odbc"]),
        ):
            if self.options.get_safe(option):
                library.requires += parts
        major, minor, patch = map(int, SOCI.split("."))
        library.defines = [f"TABLEQ_SOCI_VERSION={major * 100000 + minor * 100 + patch}"]
        if not self.options.shared:
            library.defines.append("TABLEQ_STATIC")
        if self.options.c_library:
            c_library = self.cpp_info.components["c"]
            c_library.libs = ["tableq"]
            c_library.set_property("cmake_target_name", "tableq::c")
            c_library.set_property("pkg_config_name", "tableq-c")
