! SPDX-License-Identifier: GPL-2.0-only
! The program of mpi_halo.c in Fortran, by the module mpi or, with -DF08, mpi_f08. Its communicators are
! cart and graph, and its sums have 31 bits.
program mpi_halo
#ifdef F08
	use mpi_f08
#else
	use mpi
#endif
	implicit none
	integer, parameter :: block = 1000, rounds = 5
	integer :: ndims, i, k, r, own, rank, ranks, err, step, at
	integer :: degree(1), source(1)
	integer, allocatable :: dims(:), neighbour(:), weights(:)
	integer(8), allocatable :: out(:), in(:)
	integer(8) :: x, total
	logical, allocatable :: periods(:)
	character(len=16) :: word
#ifdef F08
	type(MPI_Comm) :: comm
#else
	integer :: comm
#endif

	call MPI_Init(err)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
	call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
	ndims = command_argument_count()
	allocate(dims(ndims), periods(ndims), neighbour(2 * ndims), weights(2 * ndims))
	allocate(out(2 * ndims * block), in(2 * ndims * block))
	do i = 1, ndims
		call get_command_argument(i, word)
		read (word, *) dims(i)
	end do
	periods = .true.
	weights = block
	step = 1
	do i = ndims, 1, -1
		at = mod(rank / step, dims(i))
		neighbour(2 * i - 1) = rank + (mod(at + dims(i) - 1, dims(i)) - at) * step
		neighbour(2 * i) = rank + (mod(at + 1, dims(i)) - at) * step
		step = step * dims(i)
	end do
	own = rank
	do k = 1, 2
		if (k == 1) then
			call MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, .true., comm, err)
		else
			source(1) = own
			degree(1) = 2 * ndims
			call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, degree, neighbour, weights, &
				MPI_INFO_NULL, .true., comm, err)
		end if
		call MPI_Comm_rank(comm, rank, err)
		x = rank + 1
		do r = 1, rounds
			do i = 1, 2 * ndims * block
				out(i) = x + mod(i - 1, block)
			end do
			call MPI_Neighbor_alltoall(out, block, MPI_INTEGER8, in, block, MPI_INTEGER8, comm, err)
			total = 0
			do i = 1, 2 * ndims
				if (in(i * block) /= in(i * block - block + 1) + block - 1) call MPI_Abort(MPI_COMM_WORLD, 3, err)
				total = total + in(i * block - block + 1)
			end do
			x = mod(x * 48271 + total, 2147483647_8)
		end do
		call MPI_Reduce(x, total, 1, MPI_INTEGER8, MPI_SUM, 0, comm, err)
		if (rank == 0) print '(a, i0)', merge('cart  ', 'graph ', k == 1), mod(total, 2147483647_8)
		call MPI_Comm_free(comm, err)
	end do
	call MPI_Finalize(err)
end program mpi_halo
