# Headers of the libraries that may take operators: QFOLD_HAVE_OPENBLAS, QFOLD_HAVE_XNNPACK, QFOLD_PROVIDER_INCLUDES.
# The libraries themselves are found when a program asks for them.
include(CheckCSourceCompiles)
set(QFOLD_HAVE_OPENBLAS 0)
set(QFOLD_HAVE_XNNPACK 0)
set(QFOLD_PROVIDER_INCLUDES "")

# cblas.h of OpenBLAS, not of another BLAS.
find_path(CBLAS_INCLUDE_DIR cblas.h)
if(CBLAS_INCLUDE_DIR)
  set(CMAKE_REQUIRED_INCLUDES ${CBLAS_INCLUDE_DIR})
  check_c_source_compiles("#include <cblas.h>
    int main(void) { return sizeof(&openblas_set_num_threads) == 0; }" QFOLD_CBLAS_IS_OPENBLAS)
  if(QFOLD_CBLAS_IS_OPENBLAS)
    set(QFOLD_HAVE_OPENBLAS 1)
    list(APPEND QFOLD_PROVIDER_INCLUDES ${CBLAS_INCLUDE_DIR})
  endif()
endif()

# XNNPACK of 2022 (Debian 12), whose set-up functions take shapes; that of 2024 (Debian 13) has another interface.
find_path(XNNPACK_INCLUDE_DIR xnnpack.h)
find_path(PTHREADPOOL_INCLUDE_DIR pthreadpool.h)
if(XNNPACK_INCLUDE_DIR AND PTHREADPOOL_INCLUDE_DIR)
  set(CMAKE_REQUIRED_INCLUDES ${XNNPACK_INCLUDE_DIR} ${PTHREADPOOL_INCLUDE_DIR})
  check_c_source_compiles("#include <xnnpack.h>
    typedef enum xnn_status setup(xnn_operator_t, size_t, const size_t *, size_t, const size_t *, const float *,
                                  const float *, float *, pthreadpool_t);
    int main(void) { return sizeof((setup *){ &xnn_setup_add_nd_f32 }) == 0; }" QFOLD_XNNPACK_OF_2022)
  if(QFOLD_XNNPACK_OF_2022)
    set(QFOLD_HAVE_XNNPACK 1)
    list(APPEND QFOLD_PROVIDER_INCLUDES ${XNNPACK_INCLUDE_DIR} ${PTHREADPOOL_INCLUDE_DIR})
  endif()
endif()
unset(CMAKE_REQUIRED_INCLUDES)
