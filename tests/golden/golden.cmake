dlasim_test(sums_test.cpp quick USES dlasim::golden)
# The golden arithmetic beside the machine's: two descriptions, written apart.
dlasim_test(cell_test.cpp quick USES dlasim::golden dlasim::numerics)
dlasim_test(real_test.cpp quick USES dlasim::golden dlasim::numerics)
if(TARGET dlasim)
    # The errors of named tables and of LRN as scripts/figures/EXPERIMENTS.md has them, against doubles of NumPy.
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME Tables.Errors COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/table_errors.py --dlasim $<TARGET_FILE:dlasim>)
    set_tests_properties(Tables.Errors PROPERTIES LABELS golden TIMEOUT 600)
endif()
