# In a unity build (CMAKE_UNITY_BUILD, as the presets have it) several files are compiled as one, which
# is quicker. These are compiled by themselves all the same: they have names of their own that others have,
# too. The linter's build compiles each file by itself.
function(tableq_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
