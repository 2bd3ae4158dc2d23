# Makes the C++ source OUT of the page PAGE: HTML with C++ in it. Run by tools/serve/CMakeLists.txt.
#
#   @ html name(const call& asked)   begins a function, which returns its text as `out`
#   % for (const auto& each : all) { is C++
#   <$ each.name $>                  is a value, escaped unless it is markup itself: html::add
#
# The includes stand above the first function, with a blank line between. No line of text begins with @ or %.
# Line ends beside lines of C++, and blank lines between functions, are no part of the text.
file(READ ${PAGE} text)
string(ASCII 1 begin)
string(ASCII 2 end)
string(FIND "${text}" "\n@ " first)
string(SUBSTRING "${text}" 0 ${first} includes)
string(SUBSTRING "${text}" ${first} -1 text)
set(finished "return out; } ")
string(REGEX REPLACE "\n+$" "" text "${text}")
string(REGEX REPLACE "\n(\n*)@ (static |)([a-z]+) ([^\n]+)" "\n${begin}\\1${finished}\\2\\3 \\4 { \\3 out;${end}" text "${text}")
string(REGEX REPLACE "\n%([^\n]*)" "\n${begin}\\1${end}" text "${text}")
string(REPLACE "${end}\n${begin}" "\n" text "${text}")
string(REGEX REPLACE "<[$]([^$]*)[$]>" ")~\").add(\\1).raw(R\"~(" text "${text}")
string(REPLACE "\n${begin}" ")~\");\n" text "${text}")
string(REGEX REPLACE "${end}(\n|$)" "\nout.raw(R\"~(" text "${text}")
string(LENGTH ")~\");\n${finished}" before)
string(SUBSTRING "${text}" ${before} -1 text)
# Lines keep their numbers, so that the compiler names those of the page.
file(WRITE ${OUT} "#line 1 \"${PAGE}\"\n${includes}namespace tool::web {\n${text})~\"); return out; }\n\n}  // namespace tool::web\n")
