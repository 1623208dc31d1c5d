# The one place that names instruction-set flags. A source called <family>_<isa>.c gets the flags of its ISA.
# Levels, not features: avx2 is x86-64-v3, avx512 is x86-64-v4.
set(QFOLD_ISA_avx2 -march=x86-64-v3)
set(QFOLD_ISA_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
set(QFOLD_ISA_neon "")

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(QFOLD_ISAS avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(QFOLD_ISAS neon)
else()
  set(QFOLD_ISAS "")
endif()

# qfold_isa_sources(OUT): every kernel source that this machine's architecture can build, flags set.
function(qfold_isa_sources out)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c ${CMAKE_CURRENT_SOURCE_DIR}/*/*.c)
  foreach(isa avx2 avx512 neon)
    set(mine ${sources})
    list(FILTER mine INCLUDE REGEX "_${isa}\\.c$")
    if(isa IN_LIST QFOLD_ISAS)
      set_source_files_properties(${mine} TARGET_DIRECTORY qfold_kernels_objects
        PROPERTIES COMPILE_OPTIONS "${QFOLD_ISA_${isa}}")
    elseif(mine)
      list(REMOVE_ITEM sources ${mine})
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
