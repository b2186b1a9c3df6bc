dlasim_test(sums_test.cpp quick USES dlasim::golden)
# The golden arithmetic beside the machine's: two descriptions, written apart.
dlasim_test(cell_test.cpp quick USES dlasim::golden dlasim::numerics)
dlasim_test(real_test.cpp quick USES dlasim::golden dlasim::numerics)
