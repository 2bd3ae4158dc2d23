# In a unity build (CMAKE_UNITY_BUILD, as in the presets) several files are compiled as one, which
# is faster. These files are compiled by themselves, because their names clash with those of others.
# The linter's build compiles each file by itself.
function(tableq_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
