# Mends the links of the installed documentation. In: docs, include, schema, the folders where these
# are installed.
file(GLOB_RECURSE pages ${docs}/*.md)
foreach(page ${pages})
  get_filename_component(folder ${page} DIRECTORY)
  file(RELATIVE_PATH to_include ${folder} ${include})
  file(RELATIVE_PATH to_schema ${folder} ${schema})
  file(READ ${page} text)
  string(REGEX REPLACE "\\]\\((\\.\\./)*include/tableq/" "](${to_include}/tableq/" text "${text}")
  string(REGEX REPLACE "\\]\\((\\.\\./)*schema([/)])" "](${to_schema}\\2" text "${text}")
  string(REGEX REPLACE
    "\\[([^]]*)\\]\\((\\.\\./)*(CONTRIBUTING\\.md|(bench|core|drivers|scripts|tests|tools)/[^)]*)\\)" "\\1" text "${text}")
  file(WRITE ${page} "${text}")
endforeach()
