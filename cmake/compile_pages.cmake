# Makes the C++ source OUT of the pages in FOLDER: HTML with C++ in it. Run by tools/serve/CMakeLists.txt.
#
#   @ html name(const call& asked)   begins a function, which returns its text as `out`
#   % for (const auto& each : all) { is C++
#   <$ each.name $>                  is a value, escaped unless it is markup itself: html::add
#
# A page begins with a function. No line of text begins with @ or %. Line ends beside lines of C++, and blank lines
# between functions, are no part of the text.
string(ASCII 1 begin)
string(ASCII 2 end)
set(finished "return out; } ")
string(LENGTH ")~\");\n${finished}" before)
set(all "#include \"pieces.hpp\"\n\nnamespace tool::web {\n")
# Each uses functions of those before it.
foreach(page pieces frame messages dead queue queues)
  file(READ ${FOLDER}/${page}.html text)
  string(REGEX REPLACE "\n+$" "" text "\n${text}")
  string(REGEX REPLACE "\n(\n*)@ (static |)([a-z]+) ([^\n]+)" "\n${begin}\\1${finished}\\2\\3 \\4 { \\3 out;${end}" text "${text}")
  string(REGEX REPLACE "\n%([^\n]*)" "\n${begin}\\1${end}" text "${text}")
  string(REPLACE "${end}\n${begin}" "\n" text "${text}")
  string(REGEX REPLACE "<[$]([^$]*)[$]>" ")~\").add(\\1).raw(R\"~(" text "${text}")
  string(REPLACE "\n${begin}" ")~\");\n" text "${text}")
  string(REGEX REPLACE "${end}(\n|$)" "\nout.raw(R\"~(" text "${text}")
  string(SUBSTRING "${text}" ${before} -1 text)
  # Lines keep their numbers, so that the compiler names those of the page.
  string(APPEND all "#line 1 \"${FOLDER}/${page}.html\"\n${text})~\"); return out; }\n")
endforeach()
file(WRITE ${OUT} "${all}\n}  // namespace tool::web\n")
